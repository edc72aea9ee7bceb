import sys,time,numpy as np
from importlib import import_module
from dovetail_jit import jit
from dovetail_core import enable_x64
n,ks,na=sys.argv[1],sys.argv[2].split(','),int(sys.argv[3])
m=import_module("dovetail_scipy.stats."+n)
t=time.process_time()
out=jit(lambda *a:[getattr(m,k)(*a) for k in ks])(*[np.full((4,12),.5,np.float32)]*na)
print(n,ks,"cpu",round(time.process_time()-t,2))
